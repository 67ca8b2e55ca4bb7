import type { ToolResult } from '../../contract/base/result.ts'
import type { Road } from '../state/ground.ts'
import {
  again,
  isStopped,
  restart,
  type Authorised,
  type Called,
  type Hooked,
  type Recalled,
  type Stopped,
} from '../state/passage.ts'
import { admit } from './steps/admit.ts'
import { approve } from './steps/approve.ts'
import { authorise } from './steps/authorise.ts'
import { checkInput } from './steps/check-input.ts'
import { checkOutput } from './steps/check-output.ts'
import { find } from './steps/find.ts'
import { askHooks } from './steps/hook.ts'
import { plan } from './steps/plan.ts'
import { recall } from './steps/recall.ts'
import { record } from './steps/record.ts'
import { run } from './steps/run.ts'

/**
 * The road of a call, from top to bottom. Each step takes a call that passed the step before, and returns one that got
 * further or one that ends; every end is recorded. Nothing else in Handrail runs a tool.
 */
export async function travel(called: Called, road: Road): Promise<ToolResult> {
  const prepared = await prepare<typeof again>(called, road, { recall })
  if (prepared === again) return travelAgain(called, road)
  if (isStopped(prepared)) return record(prepared, road)

  const approved = await approve(prepared, road)
  if (isStopped(approved)) return record(approved, road)

  const admitted = await admit(approved, road)
  if (admitted === again) return travelAgain(called, road)
  if (isStopped(admitted) || 'replayed' in admitted) return record(admitted, road)

  const ran = await run(admitted, road)
  if (isStopped(ran)) return record(ran, road)

  return record(await checkOutput(ran, road), road)
}

/** How a preflight differs from a call: it takes no key and waits for no call, and hooks are told. */
export interface Preparing<Waits> {
  readonly recall: (
    authorised: Authorised,
    road: Road,
  ) => Recalled | Stopped | Waits | Promise<Recalled | Stopped | Waits>
  readonly isPreflight?: boolean
}

/** The first half of the road, which a preflight walks too: all that happens before a person is asked. It has no effect. */
export async function prepare<Waits extends typeof again>(
  called: Called,
  road: Road,
  { recall, isPreflight = false }: Preparing<Waits>,
): Promise<Hooked | Stopped | Waits> {
  const found = find(called, road)
  if (isStopped(found)) return found

  const checked = checkInput(found, road)
  if (isStopped(checked)) return checked

  const authorised = await authorise(checked, road)
  if (isStopped(authorised)) return authorised

  const recalled = await recall(authorised, road)
  if (typeof recalled === 'symbol' || isStopped(recalled)) return recalled

  const planned = await plan(recalled, road)
  if (isStopped(planned)) return planned

  return askHooks(planned, road, isPreflight)
}

/** What waited for another call is judged by what is in force when it goes on. */
function travelAgain(called: Called, { ground, session }: Road): Promise<ToolResult> {
  return travel(restart(called), { ground: ground.latest(), session })
}
