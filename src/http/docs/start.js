/** Renders `v1/openapi.json` with Swagger UI, including a request form for each operation. */

/**
 * Moves the examples of optional parameters into their descriptions. Swagger UI prefills forms with examples; a search with all
 * filters set would match nothing. Required parameters keep theirs.
 */
function withoutPrefilledFilters(openapi) {
  for (const parameter of Object.values(openapi.components.parameters)) {
    if (parameter.required || parameter.example === undefined) continue;
    const example = [parameter.example].flat().join(parameter.style === "pipeDelimited" ? "|" : ",");
    parameter.description = `${parameter.description}\n\nExample: \`${example}\`.`;
    delete parameter.example;
  }
  return openapi;
}

const response = await fetch(new URL("v1/openapi.json", document.baseURI));
SwaggerUIBundle({
  spec: withoutPrefilledFilters(await response.json()),
  dom_id: "#document",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ["get"],
  tryItOutEnabled: true,
  validatorUrl: null,
});
