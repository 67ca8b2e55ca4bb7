import { ToolFailure } from '../../contract/base/errors.ts'

/** No layer can be made on this machine, or over these roots. */
export function noLayer(why: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.UNAVAILABLE',
    reason: 'no_backend',
    message: `What a command writes cannot be held back here: ${why}. Make that right, or run the command without holding it back ("handrail doctor" tells what holds here).`,
  })
}
