import { userInfo } from 'node:os'
import { SetupError } from '../../contract/base/errors.ts'
import type { ApprovalDecision, PendingApproval } from '../../contract/pending-approval.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { trackApprovals, type ApprovalChange } from '../../kit/approvals/track-approvals.ts'
import { jsonOption, readText } from '../arguments/caller.ts'
import { aboutApprovals, findApproval } from '../arguments/find-approval.ts'
import type { CommandGroup, CommandLine, Options } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showJson, showLine, showSafely, writeJson } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { toApprovalPage, toApprovalRow } from '../render/approval-page.ts'
import { countOf } from '../render/count-of.ts'
import { toSuggestionLines } from '../render/suggestions-page.ts'
import { wireSimulation } from '../setup/wire-simulation.ts'
import { findPlaces, wireRuntime } from '../setup/wire.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { askYesOrNo } from '../terminal/ask-for-choice.ts'
import { listenForStop, whenAborted, type StopSignal } from '../terminal/stop-signal.ts'
import { openTerminal, type Terminal } from '../terminal/terminal.ts'

const tenantOption: Options = { tenant: { takes: 'TENANT', about: 'Of this tenant only. Default: of all.' } }
const decidingOptions: Options = {
  reason: { takes: 'TEXT', about: 'Why; it is kept, and the model is told the reason of a no.' },
  as: { takes: 'ACTOR', about: 'Who decides. Default: the name of the user of this machine.' },
  digest: { takes: 'DIGEST', about: 'Of the question that was looked at: any other one is not answered.' },
}

/** `handrail approvals` */
export const approvals: CommandGroup = {
  summary: 'Lists the questions that wait for a person, and answers them, also while "serve" runs.',
  otherwise: 'list',
  verbs: {
    list: {
      usage: '',
      summary: 'The questions that wait, the oldest first.',
      options: {
        ...tenantOption,
        all: { about: 'Those too that were answered, used or expired, for a day.' },
        follow: { about: 'Prints each as it comes and ends, until Ctrl-C.' },
        ...jsonOption,
      },
      examples: ['handrail approvals', 'handrail approvals --follow'],
      takes: 0,
      run: (given) => withRuntime(given, list),
    },
    show: {
      usage: '<id>',
      summary: 'All that a person needs to decide.',
      more: aboutApprovals,
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail approvals show last'],
      needs: 'Name the approval. "handrail approvals" lists them.',
      takes: 1,
      run: (given) => withRuntime(given, show),
    },
    allow: {
      usage: '<id>',
      summary: 'Lets a call through. Shows the question, and asks.',
      more: aboutApprovals,
      options: {
        'for-session': { about: 'Lets later calls of the same scope through too, until the session ends.' },
        'as-rule': {
          about:
            'Puts the narrowest rule that covers it into the policy, after it showed what else that lets through.',
        },
        yes: { about: 'Does not ask.' },
        ...decidingOptions,
        ...tenantOption,
        ...jsonOption,
      },
      examples: [
        'handrail approvals allow last',
        'handrail approvals allow 4f2k --yes --as bob',
        'handrail approvals allow last --as-rule',
      ],
      needs: 'Name the approval. "handrail approvals" lists them.',
      takes: 1,
      run: (given) => withRuntime(given, allow),
    },
    deny: {
      usage: '<id>',
      summary: 'Says no to a call.',
      more: aboutApprovals,
      options: { ...decidingOptions, ...tenantOption, ...jsonOption },
      examples: ["handrail approvals deny last --reason 'ask the customer first'"],
      needs: 'Name the approval. "handrail approvals" lists them.',
      takes: 1,
      run: (given) => withRuntime(given, deny),
    },
  },
}

interface Doing {
  readonly runtime: Runtime
  readonly given: CommandLine
  readonly stop: StopSignal
  readonly terminal: Terminal | undefined
}

async function withRuntime(given: CommandLine, act: (doing: Doing) => Promise<number>): Promise<number> {
  const stop = listenForStop()
  const terminal = openTerminal(() => stop.stop())
  const runtime = await wireRuntime(findPlaces(given), undefined, { operator: true })
  try {
    return await act({ runtime, given, stop, terminal })
  } finally {
    await runtime.close()
    stop.release()
  }
}

async function list({ runtime, given, stop }: Doing): Promise<number> {
  const tenant = readText(given, 'tenant')
  const isJson = given.options['json'] === true
  if (given.options['follow'] === true) return follow({ runtime, tenant, isJson, stop })
  const found = runtime.approvals.list({
    state: given.options['all'] === true ? 'all' : 'waiting',
    ...(tenant !== undefined && { tenant }),
  })
  if (isJson) writeJson(found)
  else {
    const now = Date.now()
    const rows = found.map((each) => `${toApprovalRow(each, now)}\n`)
    process.stdout.write(`${rows.join('')}${countOf(found.length, 'approval')}\n`)
  }
  return exitCodes.ok
}

async function follow({
  runtime,
  tenant,
  isJson,
  stop,
}: Pick<Doing, 'runtime' | 'stop'> & { tenant: string | undefined; isJson: boolean }): Promise<number> {
  const end = trackApprovals(runtime, ({ event, approval }: ApprovalChange) => {
    if (tenant !== undefined && approval.tenant !== tenant) return
    const row =
      event === 'withdrawn'
        ? `${approval.id}  withdrawn: its call ended before an answer`
        : toApprovalRow(approval, Date.now())
    process.stdout.write(`${isJson ? showJson({ event, approval }, 0) : row}\n`)
  })
  await whenAborted(stop.signal)
  end()
  return exitCodes.ok
}

/** Does something with the approval that the person names. */
async function withApproval(
  { runtime, given }: Doing,
  act: (approval: PendingApproval) => number | Promise<number>,
): Promise<number> {
  const [text = ''] = given.positionals
  const found = findApproval(runtime.approvals, { text, tenant: readText(given, 'tenant') })
  if ('approval' in found) return act(found.approval)
  process.stderr.write(`handrail: ${showLine(found.issue)}\n`)
  return exitCodes.toolError
}

function show(doing: Doing): Promise<number> {
  return withApproval(doing, (approval) => {
    if (doing.given.options['json'] === true) writeJson(approval)
    else process.stdout.write(toApprovalPage(approval, Date.now()))
    return exitCodes.ok
  })
}

function allow(doing: Doing): Promise<number> {
  return withApproval(doing, async (approval) => {
    const isForSession = doing.given.options['for-session'] === true
    if (doing.given.options['as-rule'] === true) {
      if (isForSession)
        throw new UsageError('A yes is for the session or a rule. Leave out --for-session or --as-rule.')
      return allowByRule(doing, approval)
    }
    if (approval.state === 'waiting' && !(await isMeant(doing, approval))) return exitCodes.denied
    return decide(doing, approval, isForSession ? 'allow_for_session' : 'allow_once')
  })
}

function deny(doing: Doing): Promise<number> {
  return withApproval(doing, (approval) => decide(doing, approval, 'deny'))
}

/** Says yes and puts the rule into the policy file, if the person wants just that. */
async function allowByRule(doing: Doing, approval: PendingApproval): Promise<number> {
  const { runtime, given } = doing
  const { allowAsRule, offerRule } = await import('../../compose/foresight/allow-as-rule.ts')
  const { openPolicyBook } = await import('../../config/policy-file/policy-book.ts')
  const places = findPlaces(given)
  const { store, approvals: waiting } = runtime
  const book = openPolicyBook({ home: places.home, store, checker: createSchemaChecker() })
  const offer = await offerRule(approval, { store, runtime: await wireSimulation(places), book })
  if ('reason' in offer) {
    process.stderr.write(
      `handrail: no rule is made of this call, and nothing was decided: ${showLine(offer.reason)}.\n`,
    )
    return exitCodes.toolError
  }
  const rule = `${toSuggestionLines(offer.suggestion).slice(1).join('\n')}\n  in ${offer.file}\n`
  if (approval.state === 'waiting' && !(await isMeant(doing, approval, rule))) return exitCodes.denied
  const by = deciderOf(given)
  const reason = readText(given, 'reason')
  const answer = {
    by,
    digest: readText(given, 'digest') ?? approval.digest,
    ...(reason !== undefined && { reason }),
  }
  return orIssue(async () => {
    const done = await allowAsRule(approval, offer, { approvals: waiting, book, answer })
    const { version } = done.version
    if (given.options['json'] === true)
      writeJson({ ...done.approval, policyVersion: version, rule: offer.suggestion.rule })
    else {
      const said = describeDecided(done.approval, by)
      process.stdout.write(
        showSafely(
          `${said}\n${rule}Version ${version} of the policy has it: the next such call is not asked about.\n`,
        ),
      )
    }
  })
}

async function isMeant(
  { given, terminal, stop }: Doing,
  approval: PendingApproval,
  more = '',
): Promise<boolean> {
  if (given.options['yes'] === true) return true
  if (terminal === undefined)
    throw new UsageError('There is no terminal to ask at, so nothing was decided. Add --yes to allow it.')
  const prompt = `Allow it as ${showLine(deciderOf(given))}? yes / no: `
  return terminal.talk(stop.signal, (person) => {
    person.show(`${toApprovalPage(approval, Date.now())}${showSafely(more)}`)
    return askYesOrNo(person, prompt)
  })
}

function deciderOf(given: CommandLine): string {
  return readText(given, 'as') ?? userInfo().username
}

/** How the command ends if an answer does not count. Other issues are of how it was called. */
const exitCodeOfIssue: ReadonlyMap<string, number> = new Map([
  ['unknown_approval', exitCodes.toolError],
  ['approval_over', exitCodes.toolError],
  ['approval_changed', exitCodes.toolError],
  ['not_approver', exitCodes.denied],
  ['file_changed', exitCodes.toolError],
  ['unwritable_file', exitCodes.toolError],
])

async function decide(
  { runtime, given }: Doing,
  { id, digest }: PendingApproval,
  decision: ApprovalDecision['decision'],
): Promise<number> {
  const by = deciderOf(given)
  const reason = readText(given, 'reason')
  const answer = {
    decision,
    by,
    digest: readText(given, 'digest') ?? digest,
    ...(reason !== undefined && { reason }),
  }
  return orIssue(async () => {
    const decided = await runtime.approvals.decide(id, answer)
    if (given.options['json'] === true) writeJson(decided)
    else process.stdout.write(`${showLine(describeDecided(decided, by))}\n`)
  })
}

/** Does it, or says why the answer does not count. */
async function orIssue(act: () => Promise<void>): Promise<number> {
  try {
    await act()
    return exitCodes.ok
  } catch (error) {
    const code = error instanceof SetupError ? exitCodeOfIssue.get(error.code) : undefined
    if (!(error instanceof SetupError) || code === undefined) throw error
    process.stderr.write(`handrail: ${error.code}: ${showLine(error.message)}\n`)
    return code
  }
}

function describeDecided(
  { id, tenant, state, request, answers, needed }: PendingApproval,
  by: string,
): string {
  const what = `${request.tool} for ${request.principal.actor} of ${tenant}`
  if (state === 'waiting')
    return `${id}: ${by} said yes to ${what}, ${answers.length} of ${needed}. It waits for other people.`
  return `${id}: ${state === 'denied' ? 'denied' : 'allowed'} by ${by}: ${what}.`
}
