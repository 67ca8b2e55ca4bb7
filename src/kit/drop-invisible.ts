/**
 * Characters that a reader cannot see and a model can: zero-width ones, tags, direction marks, fillers, variation selectors,
 * and controls. A joiner stays where scripts and emoji need one, and so does the selector that makes an emoji of a letter.
 */
const invisible = new RegExp(
  [
    // Controls but tab and line feed; soft hyphen, combining grapheme joiner, fillers, Khmer and Mongolian signs without a shape.
    '[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f]',
    '[\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb]',
    '[\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]',
    '(?<![\\p{L}\\p{M}\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])[\\u200c\\u200d]',
    '[\\u200c\\u200d](?![\\p{L}\\p{M}\\p{Extended_Pictographic}])',
    // Letters of scripts that do not join have no use for one.
    '(?<=[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Han}])[\\u200c\\u200d]',
    '(?<!\\p{Emoji})[\\ufe0e\\ufe0f]|[\\ufe00-\\ufe0d]',
  ].join('|'),
  'gu',
)

/** Text without characters that nobody can see. Line breaks are `\n`. */
export function dropInvisible(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(invisible, '')
}
