// The small build has the types of the whole one, and does not say so itself.
declare module "hls.js/light" {
  export { default } from "hls.js";
  export * from "hls.js";
}
