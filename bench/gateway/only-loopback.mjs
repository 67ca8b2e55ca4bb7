// For programs that ask the web for something when they start: they get no answer, and at once.
const reach = globalThis.fetch
globalThis.fetch = (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : input)
  if (hostname === '127.0.0.1' || hostname === 'localhost') return reach(input, init)
  return Promise.reject(new TypeError(`the bench does not reach ${hostname}`))
}
