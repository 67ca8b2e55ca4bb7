import type { Profile } from '../contract/base/profile.ts'
import type {
  Bounds,
  Decision,
  DecisionFacts,
  Layer,
  Policy,
  PolicyEngine,
  Rule,
  TenantPolicy,
} from '../contract/policy.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { countNeeded, findApproverIssue } from './approvers.ts'
import { compileRule, guardedPaths, indexRules, type RulePlaces } from './compile-rules.ts'
import { withCopies } from '../kit/with-copies.ts'
import { limitsWrites } from './limits-writes.ts'
import { decide, type DecisionBase } from './decide.ts'
import { createKeptDecisions } from './kept-decisions.ts'
import { explain } from './explain.ts'
import { guardOperations } from './guard-operations.ts'
import { intersectProfile } from './intersect-profile.ts'
import { compileSensitivePaths, defaultSensitivePaths } from './sensitive-paths.ts'
import { createSkillRules } from './skill-layer.ts'

/** What a policy engine is made from. */
export interface PolicyEngineOptions {
  /** Names all that decides: what the engine is made from, and what decides beside it. */
  digest: string
  policy: Policy
  /** What the policy says of the tenant that this engine decides for, if anything. */
  tenant: TenantPolicy | undefined
  /** Rules of the project's own file; only `ask` and `deny` count. */
  projectRules: readonly Rule[]
  /** Beside the built-in ones. */
  sensitivePaths: readonly string[]
  /** What no call may exceed. */
  bounds: Bounds
  /** Time limit of tools that name none, in milliseconds. */
  defaultTimeoutMs: number
  home: string
  project: string
  /** The project that this one is a part of, as a worktree is: rules for that one hold here too. */
  partOf?: string | undefined
  tmp: string
}

/** The embedded policy engine: deny over ask over allow, in memory, no I/O. */
export function createPolicyEngine(options: PolicyEngineOptions): PolicyEngine {
  const { policy, tenant, bounds } = options
  const writable = bounds.capabilities.fs.write
  const { home, project, partOf } = options
  const places: RulePlaces = { home, project, partOf, writable }
  const sensitivePatterns = [...new Set([...defaultSensitivePaths, ...options.sensitivePaths])]
  const tightening = options.projectRules.filter((rule) => rule.effect !== 'allow')
  const compile = (layer: Layer, rules: readonly Rule[] = []) =>
    rules.map((rule, index) => compileRule(rule, { layer, index, places }))
  const index = indexRules([
    ...compile('policy', policy.rules),
    ...compile('tenant', tenant?.rules),
    ...compile('project', tightening),
  ])
  const sensitive = compileSensitivePaths(sensitivePatterns, options.home)
  const base: DecisionBase = {
    rules: index,
    network: policy.network ?? {},
    sensitive,
    writable,
    project: options.project,
    skillRules: createSkillRules(places),
  }
  const keep = createKeptDecisions(index)
  const decideOnce = (facts: DecisionFacts): Decision => keep(facts, () => decide(facts, base))
  const profiles = new WeakMap<Bounds, WeakMap<ToolDefinition, Profile>>()
  return {
    digest: options.digest,
    defaultMode: policy.mode ?? 'default',
    allowBypass: policy.allowBypass ?? false,
    writable,
    hiddenGlobs({ definition, ancestors = [], ...asking }) {
      const rules = index.rulesFor(definition)
      return [...sensitive.globs, ...[asking, ...ancestors].flatMap((each) => guardedPaths(rules, each))]
    },
    sensitivePaths: (paths) => paths.filter((path) => sensitive.covers(path)),
    decide: decideOnce,
    mayAsk: (facts) =>
      index.rulesFor(facts.definition).openByInput.length > 0 ||
      decideOnce({ ...facts, operations: [], granted: undefined }).effect === 'ask',
    explain: (facts) => explain(facts, base),
    limitsWrites: (facts) => limitsWrites(facts, base),
    approvalsNeeded: (asked) => countNeeded(policy.approvers ?? [], asked),
    approverIssue: (asked, answer) => findApproverIssue(policy.approvers ?? [], asked, answer),
    guard: guardOperations,
    profile(grant, definition, copies = []) {
      let known = profiles.get(grant)
      if (known === undefined) profiles.set(grant, (known = new WeakMap()))
      let profile = known.get(definition)
      if (profile === undefined) {
        profile = intersectProfile(grant, definition, {
          policy: withCopies(bounds, copies),
          places: { project: options.project, tmp: options.tmp },
          defaultTimeoutMs: options.defaultTimeoutMs,
        })
        known.set(definition, profile)
      }
      return profile
    },
  }
}
