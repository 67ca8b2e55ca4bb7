/** Declarations by which a page keeps a text from its reader, in a style without white space. */
const hiding = new RegExp(
  [
    'display:none',
    'visibility:(?:hidden|collapse)',
    'content-visibility:hidden',
    'opacity:0*\\.?0*%?(?![.\\d])',
    'font-size:0*\\.?0*(?:px|pt|em|rem|ex|ch|vw|vh|%)?(?![.\\d])',
    '(?:left|right|top|bottom|text-indent|margin-left|margin-top):-\\d{3,}(?:px|pt|em|rem|vw|vh|%)',
    'clip:rect\\([01](?:px)?[, ]*[01](?:px)?',
    'clip-path:(?:inset\\((?:50|100)%|circle\\(0)',
    'transform:scale\\(0(?:[,)])',
    '(?<!-)color:transparent',
  ]
    .map((declaration) => `(?:^|;)${declaration}`)
    .join('|'),
)
/** Nothing of what is inside can be seen only if both are said. */
const flat = /(?:^|;)(?:max-)?(?:height|width):0(?:px)?(?:;|!|$)/
const cut = /(?:^|;)overflow(?:-[xy])?:(?:hidden|clip)/

/** Whether a list of declarations hides what it is for. */
export function hides(style: string): boolean {
  const plain = style
    .replaceAll(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '')
    .replaceAll(/\\([0-9a-f]{1,6})\s?/gi, (_, code: string) => letterOf(Number.parseInt(code, 16)))
    .replaceAll(/\s+/g, '')
    .toLowerCase()
  return hiding.test(plain) || (flat.test(plain) && cut.test(plain))
}

function letterOf(code: number): string {
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
}
