/** The host of a URL as rules name it: an IPv6 address without its brackets, a name without the dot of the root. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}
