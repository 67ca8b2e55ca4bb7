import type { Mode } from '../../contract/base/principal.ts'
import type { Rule } from '../../contract/policy.ts'

/** What became of something that could not be taken over exactly. */
export interface ImportNote {
  /** RFC 6901 pointer to it in the settings. */
  pointer: string
  /** It, as it is written there. */
  rule: string
  /** `left_out`: no rule exists for it. `narrower`: less is allowed. `wider`: more is asked for or denied. */
  became: 'left_out' | 'narrower' | 'wider'
  reason: string
}

/** Settings of another agent as rules of a policy. */
export interface ImportedRules {
  /** Each with an id that says where it comes from; free of issues, and never two that contradict each other. */
  rules: Rule[]
  /** The mode of the person's own settings, where there is one like it. */
  mode?: Mode
  notes: ImportNote[]
}

/** What one rule of the settings comes to. `match` is absent if it is left out. */
export interface Translation {
  match?: Pick<Rule, 'tools' | 'resources' | 'commands' | 'input'>
  /** Why it is not exactly the same. */
  difference?: string
}
