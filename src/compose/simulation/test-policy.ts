import type { CaseOperation, PolicyCase } from '../../config/policy-cases.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { SimulatedDecision } from './to-simulated-decision.ts'
import type { Simulation } from './create-simulation.ts'

/** A case that came out otherwise than it should. */
export interface CaseFailure {
  name: string
  expected: string
  found: string
  decision: SimulatedDecision
}

/** The cases in which the policy says something else than it should, in order. */
export async function testPolicy(
  cases: readonly PolicyCase[],
  simulation: Simulation,
): Promise<CaseFailure[]> {
  const failures: CaseFailure[] = []
  for (const [index, each] of cases.entries()) {
    const decision = await judge(each, simulation)
    if (!holds(each.expect, decision))
      failures.push({
        name: each.name ?? `/cases/${index} (${each.tool})`,
        expected: describe(each.expect),
        found: decision.decided ? describe(decision) : `nothing is decided: ${decision.reason}`,
        decision,
      })
  }
  return failures
}

function judge(
  { principal, mode, tool, input, operations }: PolicyCase,
  simulation: Simulation,
): Promise<SimulatedDecision> {
  const caller = { ...principal, ...(mode !== undefined && { mode }) }
  if (operations === undefined) return simulation.judgeInput(caller, tool, input ?? {})
  const project = simulation.projectOf(caller.tenant ?? 'local')
  return simulation.judgeReach(caller, tool, {
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

function holds(expected: PolicyCase['expect'], decision: SimulatedDecision): boolean {
  if (!decision.decided || decision.effect !== expected.effect) return false
  if (expected.layer !== undefined && expected.layer !== decision.layer) return false
  return expected.rule === undefined || expected.rule === decision.rule
}

function describe({ effect, layer, rule }: { effect: string; layer?: string; rule?: string }): string {
  if (layer === undefined && rule === undefined) return effect
  return `${effect} by ${layer ?? '*'}/${rule ?? '*'}`
}
