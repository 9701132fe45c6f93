/** Node has WebAssembly; only TypeScript's DOM library describes it, which a server should not see. */
declare namespace WebAssembly {
  type Module = object;
  function compile(bytes: Uint8Array): Promise<Module>;
}
