/** Names in URLs by which this very machine is reached, and no other one. */
export const loopbackNames: readonly string[] = ['127.0.0.1', 'localhost', '[::1]']

/** Whether what goes to a URL cannot be read on the way: it is encrypted, or stays on this very machine. */
export function isTrustworthyUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && loopbackNames.includes(hostname))
}
