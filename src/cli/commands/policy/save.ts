import { userInfo } from 'node:os'
import { foreseePolicy } from '../../../compose/foresight/foresee-policy.ts'
import { openPolicyBook, type PolicyBook } from '../../../config/policy-file/policy-book.ts'
import { readTextFile } from '../../../config/base/read-json-file.ts'
import { loadFile, noFile } from '../../../config/load-configuration.ts'
import { policyCasesForm } from '../../../config/policy-cases.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import type { Store } from '../../../contract/store.ts'
import { previewDiff } from '../../../kit/diff/preview-diff.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { writeJson, writeText } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { toForesightPage } from '../../render/foresight-page.ts'
import { toVersionsPage } from '../../render/versions-page.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import { findPlaces, type Places } from '../../setup/wire.ts'
import { askYesOrNo } from '../../terminal/ask-for-choice.ts'
import { listenForStop } from '../../terminal/stop-signal.ts'
import { openTerminal } from '../../terminal/terminal.ts'
import { withEvidence } from '../evidence/open-evidence.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail policy save` */
export const saveVerb: ToolsVerb = {
  run(given, path = '') {
    const read = readTextFile(path)
    if (read === undefined || 'issue' in read)
      throw new SetupError('invalid_configuration', 'The file cannot be used:', [
        read === undefined ? noFile(path) : { pointer: `${path}#`, code: 'unreadable', message: read.issue },
      ])
    const reason = readText(given, 'reason')
    return withBook(given, (opened) =>
      saveText({ text: read.text, ...(reason !== undefined && { reason }) }, given, opened),
    )
  },
}

/** `handrail policy versions` */
export const versionsVerb: ToolsVerb = {
  run: (given, named) =>
    withBook(given, async ({ book }) => {
      await book.notice()
      const all = book.versions()
      const isJson = given.options['json'] === true
      if (named === undefined) {
        if (isJson) writeJson(all)
        else writeText(process.stdout, toVersionsPage(all))
        return exitCodes.ok
      }
      const found = findVersion(book, named)
      if (isJson) writeJson(found)
      else {
        const before = all.find(({ version }) => version === found.version - 1)?.text
        writeText(process.stdout, previewDiff({ name: 'policy', before, after: found.text }).body)
      }
      return exitCodes.ok
    }),
}

/** `handrail policy restore` */
export const restoreVerb: ToolsVerb = {
  run: (given, named = '') =>
    withBook(given, async (opened) => {
      await opened.book.notice()
      const { version, text } = findVersion(opened.book, named)
      return saveText({ text, reason: `back to version ${version}` }, given, opened)
    }),
}

function findVersion(book: PolicyBook, named: string) {
  const found = book.versions().find(({ version }) => String(version) === named)
  if (found !== undefined) return found
  throw new UsageError(
    `There is no version "${named.slice(0, 40)}" of the policy. "handrail policy versions" lists those that there are.`,
  )
}

interface Opened {
  readonly book: PolicyBook
  readonly store: Store
  readonly places: Places
}

function withBook(given: CommandLine, act: (opened: Opened) => Promise<number>): Promise<number> {
  const places = findPlaces(given)
  const open = ({ store }: { store: Store }) =>
    act({ book: openPolicyBook({ home: places.home, store, checker: createSchemaChecker() }), store, places })
  return withEvidence(places, open, { makes: true, recovers: false })
}

/** Shows what would come of it, asks, and saves it. */
async function saveText(
  { text, reason }: { text: string; reason?: string },
  given: CommandLine,
  { book, store, places }: Opened,
): Promise<number> {
  const { name, text: present, digest } = book.read()
  const said = book.check(text)
  if ('faults' in said)
    throw new SetupError(
      'invalid_configuration',
      'The policy cannot be used. Nothing was changed:',
      said.faults.map(({ pointer, line, message }) => ({
        pointer: `line ${line}, ${pointer === '' ? '/' : pointer}`,
        code: 'invalid_policy',
        message,
      })),
    )
  const cases = readText(given, 'cases')
  const found = await foreseePolicy({
    store,
    runtime: await wireSimulation(places, book.present().policy),
    policy: said.policy,
    ...(cases !== undefined && { cases: loadFile(cases, policyCasesForm, createSchemaChecker()).cases }),
  })
  const { body } = previewDiff({ name: 'policy', before: present, after: text })
  const isJson = given.options['json'] === true
  if (!isJson) writeText(process.stdout, `${body}\n${toForesightPage(found)}`)
  if (found.failures.length > 0) {
    if (isJson) writeJson({ saved: false, ...found })
    process.stderr.write('handrail: cases come out otherwise than they should, so nothing was changed.\n')
    return exitCodes.toolError
  }
  if (!(await isMeant(given, name))) return exitCodes.denied
  const by = readText(given, 'as') ?? userInfo().username
  const { version } = await book.save({ text, digest, by, ...(reason !== undefined && { reason }) })
  if (isJson) writeJson({ saved: true, version, ...found })
  else
    writeText(process.stdout, `Version ${version} of ${name} is saved. A server that runs takes it over.\n`)
  return exitCodes.ok
}

async function isMeant({ options }: CommandLine, name: string): Promise<boolean> {
  if (options['yes'] === true) return true
  const stop = listenForStop()
  const terminal = openTerminal(() => stop.stop())
  try {
    if (terminal === undefined)
      throw new UsageError(
        'No person can be asked here. Look at what is shown above, and add --yes. Nothing was changed.',
      )
    return await terminal.talk(stop.signal, (person) => askYesOrNo(person, `Save it as ${name}? yes / no: `))
  } finally {
    stop.release()
  }
}
