/** Shows the description that this service serves, with a form for each operation. */

/**
 * A form is filled with the examples of its parameters. That is what a path needs; but a search with an example in each of its
 * filters finds nothing, so those become part of the words beside the field.
 */
function withoutFilledFilters(description) {
  for (const parameter of Object.values(description.components.parameters)) {
    if (parameter.required || parameter.example === undefined) continue;
    const example = [parameter.example].flat().join(parameter.style === "pipeDelimited" ? "|" : ",");
    parameter.description = `${parameter.description}\n\nFor example \`${example}\`.`;
    delete parameter.example;
  }
  return description;
}

const answer = await fetch(new URL("v1/openapi.json", document.baseURI));
SwaggerUIBundle({
  spec: withoutFilledFilters(await answer.json()),
  dom_id: "#document",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ["get"],
  tryItOutEnabled: true,
  validatorUrl: null,
});
