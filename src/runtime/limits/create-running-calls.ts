import type { RunningCalls, RunningCall, Refused, Question } from '../state/running-calls.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'

/** Whether a person who is asked these two sees the same caller ask the same. */
export function isSameQuestion(left: Question, right: Question): boolean {
  return questionText(left) === questionText(right)
}

/** All that a question says, as one text, without the sessions above it: after a restart they are others. */
export function keptQuestionText({ binding, kept = '', ancestors = [] }: Question): string {
  return canonicalJson([binding, kept, ancestors.map(({ principal: { role } }) => role)])
}

function questionText({ binding, kept = '', ancestors = [] }: Question): string {
  return canonicalJson([binding, kept, ancestors.map(({ session, principal: { role } }) => [session, role])])
}

/** No calls yet. */
export function createRunningCalls(): RunningCalls {
  const byKey = new Map<string, RunningCall>()
  const byCall = new Map<string, { key: string; resolve: (refused: Refused | undefined) => void }>()
  const end: RunningCalls['end'] = (call, refused) => {
    const running = byCall.get(call)
    if (running === undefined) return
    byCall.delete(call)
    if (byKey.get(running.key)?.call === call) byKey.delete(running.key)
    running.resolve(refused)
  }
  return {
    start(key, call) {
      end(call, undefined)
      const { promise, resolve } = Promise.withResolvers<Refused | undefined>()
      byKey.set(key, { call, ended: promise })
      byCall.set(call, { key, resolve })
    },
    find: (key) => byKey.get(key),
    end,
  }
}
