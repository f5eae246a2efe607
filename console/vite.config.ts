import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// Built into the Python package, which serves it at "/". Hashed files lie under /assets and are cached for ever.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: "../src/penstock/web/console",
    emptyOutDir: true,
    // Newer ones only: else light-dark() would be rewritten.
    target: ["chrome125", "firefox128", "safari18"],
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The reader of the API, which its page alone loads.
    chunkSizeWarningLimit: 1600,
    // The policy allows no data: URLs but for pictures, and a file of its own is cached.
    assetsInlineLimit: 0,
  },
});
