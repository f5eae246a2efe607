import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shared.css";
import { mount } from "svelte";
import App from "./App.svelte";
import "./screens";

const target = document.body;
const token = /^\/guest\/([^/]+)\/?$/.exec(location.pathname)?.[1];
// Whoever has a link for guests sees one item, and nothing else of the console.
if (token)
  void import("./guest/GuestPage.svelte").then(({ default: Page }) => mount(Page, { target, props: { token } }));
else mount(App, { target });
