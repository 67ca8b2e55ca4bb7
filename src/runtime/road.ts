import type { ToolResult } from '../contract/result.ts'
import type { Road } from './ground.ts'
import { recall } from './keyed-calls.ts'
import { again, isStopped, pass, startPassage, type Called } from './passage.ts'
import { admit } from './steps/admit.ts'
import { approve } from './steps/approve.ts'
import { authorise } from './steps/authorise.ts'
import { checkInput } from './steps/check-input.ts'
import { checkOutput } from './steps/check-output.ts'
import { find } from './steps/find.ts'
import { askHooks } from './steps/hook.ts'
import { plan } from './steps/plan.ts'
import { record } from './steps/record.ts'
import { run } from './steps/run.ts'

/**
 * The road of a call, from top to bottom. Each step takes a call that passed the step before, and returns one that got
 * further or one that ends; every end is recorded. Nothing else in Handrail runs a tool.
 */
export async function travel(called: Called, road: Road): Promise<ToolResult> {
  const found = find(called, road)
  if (isStopped(found)) return record(found, road)

  const checked = checkInput(found, road)
  if (isStopped(checked)) return record(checked, road)

  const authorised = await authorise(checked, road)
  if (isStopped(authorised)) return record(authorised, road)

  const recalled = await recall(authorised, road)
  if (recalled === again) return travelAgain(called, road)
  if (isStopped(recalled)) return record(recalled, road)

  const planned = await plan(recalled, road)
  if (isStopped(planned)) return record(planned, road)

  const hooked = await askHooks(planned, road)
  if (isStopped(hooked)) return record(hooked, road)

  const approved = await approve(hooked, road)
  if (isStopped(approved)) return record(approved, road)

  const admitted = await admit(approved, road)
  if (admitted === again) return travelAgain(called, road)
  if (isStopped(admitted) || 'replayed' in admitted) return record(admitted, road)

  const ran = await run(admitted, road)
  if (isStopped(ran)) return record(ran, road)

  return record(await checkOutput(ran, road), road)
}

/** What waited for another call is judged by what is in force when it goes on. It stays the same passage, with nothing known but how long people took, and their no. */
function travelAgain(called: Called, { ground, session }: Road): Promise<ToolResult> {
  const { call, tick } = called
  return travel(pass<Called>(called, startPassage(call, tick, called)), { ground: ground.latest(), session })
}
