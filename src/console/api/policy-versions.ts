import type { PolicyBook, PolicyVersion } from '../../config/policy-file/policy-book.ts'
import { previewDiff } from '../../kit/diff/preview-diff.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Asked, type Endpoint } from '../base/endpoint.ts'
import { ofAllTenants } from '../base/read-query.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { versionRow, type VersionRow } from './policy-rows.ts'

/** Versions that are listed. */
const most = 100

const list = endpoint({
  method: 'GET',
  path: '/api/policy/versions',
  summary: `What the policy file said, the newest ${most} versions: those that were saved here, and those that were found in the file.`,
  role: 'viewer',
  reach: ofAllTenants,
  answer: {
    type: 'object',
    properties: { versions: { type: 'array', items: versionRow } },
    required: ['versions'],
  },
  run(asked) {
    const book = bookOf(asked)
    if (book instanceof Response) return book
    return refusingSetup(async () => {
      await book.notice()
      const all = book.versions()
      return { versions: all.slice(0, most).map((each, index) => toRow(each, all[index + 1])) }
    })
  },
})

const show = endpoint({
  method: 'GET',
  path: '/api/policy/versions/{version}',
  summary: 'A version of the policy file, and what it changed.',
  role: 'viewer',
  reach: ofAllTenants,
  answer: {
    type: 'object',
    properties: {
      version: versionRow,
      text: { type: 'string' },
      diff: { type: 'string', description: 'Against the version before, in the unified form.' },
    },
    required: ['version', 'text', 'diff'],
  },
  run(asked) {
    const book = bookOf(asked)
    if (book instanceof Response) return book
    const all = book.versions()
    const index = all.findIndex(({ version }) => String(version) === asked.path['version'])
    const found = all[index]
    if (found === undefined) return answerProblem({ status: 404, detail: 'There is no such version.' })
    const before = all[index + 1]
    return { version: toRow(found, before), text: found.text, diff: diffOf(found, before).body }
  },
})

function bookOf({ parts }: Asked): PolicyBook | Response {
  return (
    parts.policy.book ??
    answerProblem({ status: 404, detail: 'The program that runs this gateway gives its policy.' })
  )
}

function diffOf({ text }: PolicyVersion, before: PolicyVersion | undefined): ReturnType<typeof previewDiff> {
  return previewDiff({ name: 'policy', before: before?.text, after: text })
}

function toRow(version: PolicyVersion, before: PolicyVersion | undefined): VersionRow {
  const { text: _, ...rest } = version
  const { addedLines, removedLines } = diffOf(version, before)
  return { ...rest, added: addedLines, removed: removedLines }
}

export const policyVersionEndpoints: readonly Endpoint[] = [list, show]
