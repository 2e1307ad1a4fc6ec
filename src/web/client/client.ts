/** The entry of the browser modules. */
document.documentElement.classList.add("js");
