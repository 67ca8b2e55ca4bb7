/** The host of an address with its port, as a pattern of hosts. */
export function hostWithPort(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`
}
