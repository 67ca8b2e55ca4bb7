/**
 * Options of ArkType's converter. By itself it says nothing of what JSON does not have, so that no input would ever fit; this throws
 * instead. What it can say only in part is left to ArkType, which checks every value too.
 */
export const arktypeOptions = {
  fallback: {
    date: () => refuse('Date'),
    proto: ({ proto }: { proto?: unknown }) => refuse(typeof proto === 'function' ? proto.name : 'A class'),
    domain: ({ domain, base }: { domain?: unknown; base?: unknown }) =>
      domain === 'bigint' || domain === 'symbol' ? refuse(domain) : base,
  },
}

function refuse(what: string): never {
  throw new Error(`JSON has no place for ${what}`)
}
