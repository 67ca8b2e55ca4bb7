/** What words end in when they say the same of another time, number or kind, and what stands there in all of them. */
const endings: readonly (readonly [ending: string, stem: string])[] = [
  ['ization', 'iz'],
  ['isation', 'iz'],
  ['ational', 'at'],
  ['fulness', 'ful'],
  ['ation', 'at'],
  ['ator', 'at'],
  ['ition', 'it'],
  ['tion', 't'],
  ['sion', 's'],
  ['ment', ''],
  ['ness', ''],
  ['ance', ''],
  ['ence', ''],
  ['able', ''],
  ['ible', ''],
  ['ally', 'al'],
  ['ly', ''],
  ['ity', ''],
  ['ive', ''],
  ['al', ''],
  ['er', ''],
  ['or', ''],
]

/** The stem of an English word in lower case, so that `conversions` and `convert` meet. Other words stay as they are. */
export function stemWord(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  let stem = withoutPlural(word)
  stem = withoutEnding(stem, 'ing')
  stem = withoutEnding(stem, 'ed')
  const found = endings.find(([ending]) => stem.endsWith(ending) && stem.length - ending.length >= 4)
  if (found !== undefined) stem = stem.slice(0, -found[0].length) + found[1]
  if (stem.endsWith('e') && stem.length > 4) stem = stem.slice(0, -1)
  return stem.endsWith('y') && stem.length > 3 ? `${stem.slice(0, -1)}i` : stem
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:ss|ch|sh|x|z)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word
}

function withoutEnding(word: string, ending: string): string {
  const rest = word.slice(0, -ending.length)
  if (!word.endsWith(ending) || rest.length < 3 || !/[aeiouy]/.test(rest)) return word
  return /([bdfgmnprt])\1$/.test(rest) ? rest.slice(0, -1) : rest
}
