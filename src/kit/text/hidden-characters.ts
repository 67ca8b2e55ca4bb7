/**
 * Characters that a reader cannot see, or that make text look like another one: controls but tab and line feed, and the carriage return of a
 * CRLF; soft hyphens, fillers, signs without a shape, zero-width and tag characters; marks of direction; line breaks that are none to most
 * programs; variation selectors and joiners, but for those that scripts and emoji need. One table: a terminal, a form, a preview and a model
 * each have their own way to show them.
 */
export const hiddenCharacters: RegExp = new RegExp(
  [
    String.raw`[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n|$)`,
    String.raw`[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f]`,
    String.raw`[\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]`,
    String.raw`[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]`,
    String.raw`(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d]`,
    String.raw`[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])`,
    // Characters of scripts that do not join have no use for one.
    String.raw`(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])[\u200c\u200d]`,
    String.raw`(?<!\p{Emoji})[\ufe0e\ufe0f]|[\ufe00-\ufe0d]`,
  ].join('|'),
  'gu',
)

/** Nothing below is one of them but controls: most texts need no other look. */
const mayHide = /[^\t\n\x20-\x7e]/

/** The text with each of them shown in another way. */
export function replaceHidden(text: string, show: (letter: string) => string): string {
  return mayHide.test(text) ? text.replace(hiddenCharacters, show) : text
}
