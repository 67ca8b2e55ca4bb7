import type { CaseOperation, PolicyCase } from '../../config/policy-cases.ts'
import type { Operation } from '../../contract/base/plan.ts'
import type { Ruling } from './to-ruling.ts'
import type { Trial } from './create-trial.ts'

/** A case that came out otherwise than it should. */
export interface CaseFailure {
  name: string
  expected: string
  found: string
  ruling: Ruling
}

/** The cases in which the policy says something else than it should, in order. */
export async function testPolicy(cases: readonly PolicyCase[], trial: Trial): Promise<CaseFailure[]> {
  const failures: CaseFailure[] = []
  for (const [index, each] of cases.entries()) {
    const ruling = await judge(each, trial)
    if (!holds(each.expect, ruling))
      failures.push({
        name: each.name ?? `/cases/${index} (${each.tool})`,
        expected: describe(each.expect),
        found: ruling.decided ? describe(ruling) : `nothing is decided: ${ruling.reason}`,
        ruling,
      })
  }
  return failures
}

function judge({ principal, mode, tool, input, operations }: PolicyCase, trial: Trial): Promise<Ruling> {
  const caller = { ...principal, ...(mode !== undefined && { mode }) }
  if (operations === undefined) return trial.judgeInput(caller, tool, input ?? {})
  const project = trial.projectOf(caller.tenant ?? 'local')
  return trial.judgeReach(caller, tool, {
    operations: operations.map((operation) => toOperation(operation, project)),
  })
}

function toOperation(given: CaseOperation, project: string): Operation {
  const toPath = (path: string | undefined) =>
    (path ?? project).replace(/^\{project\}(?=\/|$)/, () => project)
  switch (given.kind) {
    case 'fs.read':
      return { kind: 'fs.read', path: toPath(given.path), recursive: given.recursive ?? false }
    case 'fs.write':
      return { kind: 'fs.write', path: toPath(given.path) }
    case 'process': {
      const executable = toPath(given.executable)
      const argv = given.argv ?? [executable.slice(executable.lastIndexOf('/') + 1)]
      return { kind: 'process', executable, argv, cwd: toPath(given.cwd) }
    }
    case 'net': {
      const host = (given.host ?? '').toLowerCase()
      return { kind: 'net', host, url: given.url ?? `https://${host}/` }
    }
    case 'other':
      return { kind: 'other', resource: given.resource ?? '' }
  }
}

function holds(expected: PolicyCase['expect'], ruling: Ruling): boolean {
  if (!ruling.decided || ruling.effect !== expected.effect) return false
  if (expected.layer !== undefined && expected.layer !== ruling.layer) return false
  return expected.rule === undefined || expected.rule === ruling.rule
}

function describe({ effect, layer, rule }: { effect: string; layer?: string; rule?: string }): string {
  if (layer === undefined && rule === undefined) return effect
  return `${effect} by ${layer ?? '*'}/${rule ?? '*'}`
}
