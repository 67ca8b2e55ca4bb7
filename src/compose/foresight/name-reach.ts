import type { Rule } from '../../contract/policy.ts'
import type { Registered } from '../../contract/registry.ts'
import { isBuiltin } from '../../kit/builtin-tools.ts'
import { operationUrn } from '../../kit/match/urn.ts'
import { wordBreak } from '../../kit/shell/command-pattern.ts'
import { findParts } from '../../policy/commands/find-parts.ts'
import type { JudgedCall } from './judged-call.ts'

/** What a rule says of what calls reach. */
export type Reached = Pick<Rule, 'resources' | 'commands' | 'input' | 'inputOnly'>

/** The narrowest words in which a rule can name what a call reaches, by kind. */
export type NamedReach =
  | { readonly kind: 'resources'; readonly resources: readonly string[] }
  /** The words of each command. */
  | { readonly kind: 'commands'; readonly commands: readonly (readonly string[])[] }
  /** With `resources` or `commands`, of a call that also reaches something. */
  | {
      readonly kind: 'input'
      readonly input: { readonly [field: string]: string }
      readonly resources?: readonly string[]
      readonly commands?: readonly (readonly string[])[]
    }

/** Names what a call reaches, or says why no rule can: it would have to name a secret, or something that has no exact pattern. */
export function nameReach(
  call: JudgedCall,
  { project, registered }: Ground,
): NamedReach | { readonly reason: string } {
  const { operations } = call
  if (operations.length === 0) return nameInput(call)
  if (call.hides.operations)
    return { reason: 'a rule would have to name a secret that stands in what it reaches' }
  if (operations.some(({ kind }) => kind === 'process')) {
    const named = nameCommands(call, project)
    // The words of a command are all that those of Handrail say to a program. Others hand it their input beside.
    return 'reason' in named || isBuiltin(registered.tool) ? named : nameBeside(call, named)
  }
  const named = nameResources(call)
  // Where a call goes, or what it reads, does not say what it changes, as the path of a file that it writes does.
  const isOfFiles =
    operations.every(({ kind }) => kind.startsWith('fs.')) &&
    operations.some(({ kind }) => kind === 'fs.write')
  const isSaid = registered.definition.permission !== 'write' || isOfFiles
  return 'reason' in named || isSaid ? named : nameBeside(call, named)
}

/** What a call is looked at with: the project of its tenant, and its tool. */
export interface Ground {
  readonly project: string
  readonly registered: Pick<Registered, 'definition' | 'tool'>
}

/** What a call is given, beside what it reaches. */
function nameBeside(
  call: JudgedCall,
  reached: Exclude<NamedReach, { kind: 'input' }>,
): NamedReach | { readonly reason: string } {
  const input = nameInput(call)
  return 'reason' in input ? input : { ...reached, ...input }
}

function nameResources({
  operations,
}: JudgedCall): Extract<NamedReach, { kind: 'resources' }> | { readonly reason: string } {
  const urns = [...new Set(operations.map(operationUrn))].sort()
  const odd = urns.find((urn) => /[*?]/.test(urn))
  if (odd !== undefined)
    return { reason: `no pattern names "${odd}" alone, as its "*" and "?" would stand for any letters` }
  return { kind: 'resources', resources: urns }
}

function nameCommands(
  { operations, wrote, input }: JudgedCall,
  project: string,
): Extract<NamedReach, { kind: 'commands' }> | { readonly reason: string } {
  if (wrote && input?.['review'] === true)
    return { reason: 'the call itself wants a person to see its changes, whatever a rule says' }
  const commands: (readonly string[])[] = []
  for (const operation of operations) {
    // What a command reaches of the network is asked about by itself.
    if (operation.kind === 'net') continue
    if (operation.kind !== 'process')
      return { reason: 'it starts a program and reaches files beside, and no rule names both' }
    const parts = findParts(operation, { writable: [project], project })
    if (parts === undefined)
      return { reason: 'its command cannot be read for sure, so that no rule lets it through' }
    for (const { outer, inner } of parts) {
      const view = (outer ?? inner)?.view
      const program = view?.name ?? view?.paths[0]
      if (view === undefined || program === undefined || view.known < view.rest.length)
        return { reason: 'words of its command are known to the shell alone, so that no rule names them' }
      commands.push([program, ...view.rest.split(wordBreak).slice(1)])
    }
  }
  // A rule that names none would speak of every command.
  if (commands.length === 0) return { reason: 'there is nothing in its command that a rule could name' }
  return { kind: 'commands', commands }
}

function nameInput({
  input,
  hides,
}: JudgedCall): Extract<NamedReach, { kind: 'input' }> | { readonly reason: string } {
  if (input === undefined) return { reason: 'its input was not kept' }
  const named: [field: string, value: string][] = []
  for (const [field, value] of Object.entries(input)) {
    if (typeof value === 'object')
      return { reason: `no rule names the value of "${field}", which is neither text, number nor boolean` }
    named.push([field, `${value}`])
  }
  if (hides.input) return { reason: 'a rule would have to name a secret that stands in its input' }
  const odd = named.find(([, value]) => value.includes('*'))
  if (odd !== undefined)
    return {
      reason: `no pattern names the value of "${odd[0]}" alone, as its "*" would stand for any letters`,
    }
  return { kind: 'input', input: Object.fromEntries(named) }
}

/** A pattern that means this word alone. */
export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word) && !word.endsWith(':')) return word
  return `"${word.replace(/[*"\\$`]/g, '\\$&')}"`
}
