const known: readonly string[] = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']

/** A method of HTTP as the web's own `fetch` reads it: these are known in small letters too, and any other one is what it is. */
export function normaliseMethod(method: string): string {
  const upper = method.toUpperCase()
  return known.includes(upper) ? upper : method
}
