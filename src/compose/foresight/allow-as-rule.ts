import { insertRule } from '../../config/policy-file/insert-rule.ts'
import type { PolicyBook, PolicyVersion } from '../../config/policy-file/policy-book.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { PendingApproval, PendingApprovals } from '../../contract/pending-approval.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { placeOfRule } from './add-rule.ts'
import { suggestForApproval } from './suggest-for-approval.ts'
import type { SuggestRequest } from './suggest-rules.ts'
import type { SuggestedRule } from './suggested-rule.ts'

/** A rule that a person may put into the policy file in the place of a yes to one call. */
export interface RuleOffer {
  readonly suggestion: SuggestedRule
  /** The file that it goes into. */
  readonly file: string
  /** What the file would say. */
  readonly text: string
  /** Of what the file says now. */
  readonly digest: string
}

/** The rule for a question that waits, as a change of the policy file; or why there is none. */
export async function offerRule(
  approval: PendingApproval,
  request: Pick<SuggestRequest, 'store' | 'runtime'> & { readonly book: PolicyBook },
): Promise<RuleOffer | { readonly reason: string }> {
  const { name, text, digest } = request.book.read()
  const said = request.book.check(text)
  if ('faults' in said)
    return { reason: `${name} cannot be used as it is, so that no rule is put into it. Mend it first` }
  const runtime = { ...request.runtime, policy: said.policy }
  const suggestion = await suggestForApproval(approval, { store: request.store, runtime })
  if ('reason' in suggestion) return suggestion
  const place = placeOfRule(said.policy, approval.tenant)
  return { suggestion, file: name, text: insertRule(text, place, suggestion.rule), digest }
}

/** Who says yes to a question and puts its rule into the policy. */
export interface RuleAnswer {
  readonly by: string
  /** Of the question that they saw. */
  readonly digest: string
  readonly reason?: string
}

/**
 * Says yes to the call of a question, and then puts its rule into the policy file, so that the answer is good whenever the new policy is in force. Throws a
 * SetupError as `approvals.decide` and `save` do: if the file is not what was offered, nothing is decided.
 */
export async function allowAsRule(
  { id }: PendingApproval,
  { suggestion, text, digest: of }: RuleOffer,
  { approvals, book, answer }: { approvals: PendingApprovals; book: PolicyBook; answer: RuleAnswer },
): Promise<{ readonly approval: PendingApproval; readonly version: PolicyVersion }> {
  if (book.read().digest !== of)
    throw new SetupError(
      'file_changed',
      'The policy was changed meanwhile, so nothing was decided. Look at the rule again.',
    )
  const { by, digest, reason } = answer
  const approval = await approvals.decide(id, {
    decision: 'allow_once',
    by,
    digest,
    ...(reason !== undefined && { reason }),
  })
  try {
    const version = await book.save({
      text,
      digest: of,
      by,
      reason: `the rule "${suggestion.rule.id ?? ''}", with the yes to ${id}`,
    })
    return { approval, version }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    throw new SetupError(
      error.code,
      `The call was allowed once, and the rule was not added: ${messageOf(error)}`,
      error.issues,
    )
  }
}
