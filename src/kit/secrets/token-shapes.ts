/** Where a token may begin that looks like the end of a word: behind no letter and no digit, or behind an escape of JSON or of a URL. */
const start = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]|%[0-9A-Fa-f]{2}))`
/** Between a name and its value, in code, JSON, JSON in JSON, XML and settings. */
const is = String.raw`\\{0,2}["']?\s{0,2}[:=>]\s{0,2}\\{0,2}["']?`

/**
 * Shapes of tokens that services publish for theirs. Each is linear: a fixed start and a bounded or single-class run. What begins like no
 * word is found wherever it stands, also glued to other letters.
 */
const tokens = [
  String.raw`(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])`,
  String.raw`AIzaSy[0-9A-Za-z_-]{33}`,
  String.raw`${start}AIza[0-9A-Za-z_-]{35}`,
  String.raw`gh[pousr]_[A-Za-z0-9]{36,255}`,
  String.raw`github_pat_[A-Za-z0-9_]{22,255}`,
  String.raw`glpat-[A-Za-z0-9_-]{20,255}`,
  String.raw`xox[abeoprs]-[A-Za-z0-9-]{10,255}`,
  String.raw`${start}xapp-[A-Za-z0-9-]{10,255}`,
  String.raw`[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}`,
  String.raw`sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,255}`,
  String.raw`${start}sk-[A-Za-z0-9_-]{20,255}`,
  String.raw`npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])`,
  String.raw`hf_[A-Za-z0-9]{30,255}`,
  String.raw`${start}SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}`,
  String.raw`dop_v1_[a-f0-9]{64}(?![a-f0-9])`,
  String.raw`${start}(?:ya29\.|hvs\.|glrt-)[A-Za-z0-9._-]{16,1024}`,
  String.raw`(?:pypi-AgE|dckr_pat_|shpat_)[A-Za-z0-9._-]{16,1024}`,
  String.raw`whsec_[A-Za-z0-9+/_-]{16,1024}={0,2}`,
  String.raw`hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,100}`,
  String.raw`discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{15,22}\/[A-Za-z0-9_-]{60,80}`,
  // The first part is digits in Base64.
  String.raw`(?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5]){5,6}[A-Za-z0-9]{0,4}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}`,
  String.raw`(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`,
  String.raw`${start}SK[0-9a-f]{32}(?![0-9A-Za-z])`,
  String.raw`lin_(?:api|oauth)_[A-Za-z0-9]{32,64}`,
  String.raw`ntn_[A-Za-z0-9]{40,64}`,
  String.raw`secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])`,
  String.raw`AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`,
  String.raw`eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,2048}`,
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\]{0,16384}(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?`,
] as const

/** The group before the secret is kept: the word that says what follows. */
const named = [
  String.raw`(${start}[Bb]earer)\s{1,4}[A-Za-z0-9._~+/=-]{16,4096}`,
  String.raw`(${start}[Aa]uthorization${is}[Bb]asic\s{1,4})[A-Za-z0-9+/]{6,1024}={0,2}`,
  String.raw`(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/:@"']{0,128}:[^\s/@"']{3,256}(?=@)`,
  String.raw`((?:[Ss]ecret_?[Aa]ccess_?[Kk]ey|SECRET_ACCESS_KEY)${is})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])`,
  String.raw`((?:Account|SharedAccess)Key=)[A-Za-z0-9+/%]{40,120}={0,2}`,
  // In quotes only, and no word, name or place to fill in: those stand in ordinary code.
  String.raw`((?:[Pp]assw(?:or)?d|PASSW(?:OR)?D)\\{0,2}["']?\s{0,2}[:=]\s{0,2}\\{0,2}["'])(?![$<{%*[])(?=[^"'\s\\]{0,255}[^A-Za-z._/:\-"'\s\\])[^"'\s\\]{6,256}(?=\\{0,2}["'])`,
] as const

/** What each of them has in it. */
export const tokenSeeds: readonly string[] = [
  'AKIA ASIA ABIA ACCA AIza github_pat_ glpat- xapp- sk- npm_ hf_ SG. dop_v1_ ya29. hvs. glrt- pypi-AgE whsec_ dckr_pat_ shpat_',
  'hooks.slack.com webhooks/ :AA lin_api_ lin_oauth_ ntn_ secret_ AGE-SECRET-KEY-1 eyJ PRIVATE earer uthorization ://',
  'ccess_key ccess_Key ccesskey ccessKey CCESS_KEY AccountKey= SharedAccessKey= asswd assword ASSWD ASSWORD',
]
  .join(' ')
  .split(' ')
  .concat(
    each('gh', 'pousr', '_'),
    each('xox', 'abeoprs', '-'),
    each('', 'rs', 'k_live_'),
    each('', 'rs', 'k_test_'),
    each('SK', '0123456789abcdef', ''),
    digitsInBase64(),
  )

/** Patterns of both, to be looked for from one place to the next. */
export const tokenPattern = new RegExp(tokens.join('|'), 'g')
export const namedPattern = new RegExp(named.join('|'), 'g')

/** No token is longer. */
export const longestToken = 17 * 1024

/** What a token begins with that goes on in the next line. */
export const openToken =
  /(?:[Bb]earer\s{0,3}|-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\]{0,16384})\n$/

function each(before: string, letters: string, after: string): string[] {
  return Array.from(letters, (letter) => before + letter + after)
}

/** Three digits in Base64. */
function digitsInBase64(): string[] {
  return each('', 'MNO', '')
    .flatMap((first) => each(first, 'DTjz', ''))
    .flatMap((two) => each(two, 'AEIMQUYcgk', ''))
    .flatMap((three) => each(three, 'wxyz012345', ''))
}
