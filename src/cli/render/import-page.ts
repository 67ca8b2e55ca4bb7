import type { ImportedRules } from '../../config/import-rules/imported-rules.ts'
import { showLine } from '../base/show-safely.ts'

/** What `handrail policy import` found and did. */
export interface ImportReport extends ImportedRules {
  /** The only project in which the rules hold. */
  project: string | undefined
  /** How many rules the policy did not have. */
  added: number
  /** Path of the policy. */
  policy: string
  /** Whether the policy was to be written. */
  written: boolean
}

const became = { left_out: 'left out', narrower: 'allows less', wider: 'holds for more' } as const

/** The report as a page for a person. */
export function toImportPage(report: ImportReport): string {
  const { rules, mode, notes, project } = report
  const where = project === undefined ? 'in every project' : `in "${project}" alone`
  const parts = [
    `${count(rules.length)}, which hold ${where}:`,
    ...rules.map((rule) => `  ${JSON.stringify(rule)}`),
  ]
  if (mode !== undefined) parts.push(`Mode of sessions that name none: ${mode}.`)
  if (notes.length > 0) parts.push('', 'Not taken over as it is:')
  for (const note of notes) {
    const [, list = ''] = /^\/permissions\/(allow|ask|deny)\//.exec(note.pointer) ?? []
    parts.push(
      showLine(`  ${list} ${note.rule} – ${became[note.became]}: ${note.reason}.`.replace('   ', '  ')),
    )
  }
  return `${[...parts, '', toEnd(report)].join('\n')}\n`
}

function toEnd({ added, policy, written }: ImportReport): string {
  if (added === 0) return `"${policy}" has them already. Nothing was changed.`
  return written
    ? `${count(added)} added to "${policy}".`
    : `Nothing was written. With --write, ${count(added)} would be added to "${policy}".`
}

function count(rules: number): string {
  return rules === 1 ? '1 rule' : `${rules} rules`
}
