/** The driver of another version under another name; what is used of it is the same. */
declare module "better-sqlite3-napi" {
  export { default } from "better-sqlite3";
}
