import rollupPluginLicense from 'rollup-plugin-license'

// What it exports is the function itself, and not as its types say.
const license = rollupPluginLicense as unknown as typeof rollupPluginLicense.default

/** Names in this file what is bundled, which stays under the terms of those who wrote it. Terms that several packages have stand there once. */
export function nameLicenses(file: string) {
  return license({
    thirdParty: { output: { file, template: (found) => found.map(toNotice(new Map())).join('\n\n---\n\n') } },
  })
}

interface Bundled {
  readonly name: string | null
  readonly text: () => string
}

function toNotice(first: Map<string, string>): (bundled: Bundled) => string {
  return (bundled) => {
    const text = bundled.text()
    const start = text.indexOf(terms)
    if (start < 0) return text
    const own = text.slice(start + terms.length).replace(/\s+/g, ' ')
    const same = first.get(own)
    if (same !== undefined) return `${text.slice(0, start)}License Text: the same as of ${same}, above.`
    first.set(own, bundled.name ?? '')
    return text
  }
}

/** What stands above the text of a licence. */
const terms = 'License Text:'
