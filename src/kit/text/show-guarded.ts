import type { ToolFailure } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { CommandOutcome, HeldBack } from '../../contract/services/sandbox.ts'
import { quoted } from './quoted.ts'
import { withoutStop } from './without-stop.ts'

/** The error of a command that ran and made something where nothing may be, whatever else became of it. */
export function toProtected(command: string, paths: readonly string[]) {
  const message = `${command} made ${describeSetAside(paths)}`
  const data: JsonObject = { paths: [...paths] }
  return { code: 'TOOL.FAILED', reason: 'protected_path', message, data } as const
}

/** The error of a command that ran to its end, and whose changes did not land. */
export function toNotLanded({ code, reason, message, data }: ToolFailure) {
  return { code, reason, message, ...(data !== undefined && { data: { ...data } }) }
}

const limitsOfLayers =
  'What the command writes is held back until it may land, and a folder that was there cannot be renamed then (EXDEV), nor a file of another group changed (EOVERFLOW): not in a project of this size, or if the command may reach hosts. Copy the folder and remove the old one ("mv" does that), or let a rule of the policy allow this command, so that it is not held back.'

/** What a command made where nothing may be, and what became of it. */
export function describeSetAside(paths: readonly string[]): string {
  return `${quoted(paths)}, which other programs of the person run or obey without asking. It was renamed to a name that ends in ".blocked-…". Ask the person to make it, or to run the command themselves.`
}

/** Paths that are told by name. */
const mostTold = 20

/** What became of a path that a program wrote and that did not land. */
export function describeHeldBack({ path, reason }: HeldBack): string {
  return `${quoted([path])} did not land and is not in force: ${withoutStop(reason)}.`
}

/** What a reader of the output of a command has to know of the places that were kept from it, each a sentence or two. */
export function describeGuarded({
  withheld = [],
  replaced = [],
  emptied = [],
  leftOut = [],
  heldBack = [],
  layerInTheWay = false,
}: Pick<
  CommandOutcome,
  'withheld' | 'replaced' | 'emptied' | 'leftOut' | 'heldBack' | 'layerInTheWay'
>): string[] {
  return [
    ...(layerInTheWay ? [limitsOfLayers] : []),
    ...(leftOut.length > 0 ? [`Sockets and pipes are not kept: ${quoted(leftOut)}.`] : []),
    ...heldBack.slice(0, mostTold).map(describeHeldBack),
    ...(heldBack.length > mostTold ? [`${heldBack.length - mostTold} more paths did not land.`] : []),
    ...(emptied.length > 0 ? [describeEmptied(emptied)] : []),
    ...(withheld.length > 0 ? [describeWithheld(withheld)] : []),
    ...(replaced.length > 0 ? [describeReplaced(replaced)] : []),
  ]
}

function describeEmptied(names: readonly string[]): string {
  const [is, it] = names.length === 1 ? ['is', 'it'] : ['are', 'them']
  return `${quoted(names)} ${is} sensitive: commands find ${it} empty, and can neither move nor remove ${it} or a folder above. A file tool can, if the person allows that.`
}

function describeWithheld(names: readonly string[]): string {
  const [is, it] = names.length === 1 ? ['is', 'it'] : ['are', 'them']
  return `${quoted(names)} ${is} protected: programs of the person run or obey ${it}, so commands find ${it} read-only. What the command did before that step stands. Ask the person to make this change themselves.`
}

function describeReplaced(paths: readonly string[]): string {
  const [was, it] = paths.length === 1 ? ['was', 'it'] : ['were', 'them']
  return `${quoted(paths)} ${was} replaced by another program while the command ran, which could change ${it} from then on. Tell the person to look at what is in ${it} before they go on.`
}
