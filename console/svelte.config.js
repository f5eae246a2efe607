// Warnings are errors in `make check`; types are stripped by Svelte itself.
export default { compilerOptions: { runes: true } };
