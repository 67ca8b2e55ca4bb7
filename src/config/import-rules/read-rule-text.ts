/** A rule as its parts: `Tool` or `Tool(specifier)`. */
export interface RuleText {
  /** Empty if not even a name can be read. */
  tool: string
  specifier: string | undefined
  /** Why it cannot be read to its end. */
  flaw: string | undefined
}

/** Reads the text of a rule. Total. */
export function readRuleText(text: string): RuleText {
  const [, tool = '', opened, inside = ''] = /^([A-Za-z_*][\w.*-]*)(\()?([^]*)$/.exec(text.trim()) ?? []
  if (tool === '' || (opened === undefined && inside !== ''))
    return {
      tool: '',
      specifier: undefined,
      flaw: 'it is not a name of a tool with a specifier in parentheses',
    }
  if (opened === undefined) return { tool, specifier: undefined, flaw: undefined }
  const specifier = inside.replace(/\)$/, '').trim()
  const closed = inside.endsWith(')') && isBalanced(specifier)
  const flaw = closed ? 'its specifier is empty' : 'its parentheses do not match'
  return { tool, specifier, flaw: closed && specifier !== '' ? undefined : flaw }
}

/** Whether each parenthesis outside of quotes has its partner. */
function isBalanced(specifier: string): boolean {
  let open = 0
  for (const letter of specifier.replaceAll(/\\[^]|"(?:[^"\\]|\\[^])*"|'[^']*'/g, '')) {
    if (letter === '(') open++
    if (letter === ')' && --open < 0) return false
  }
  return open === 0
}
