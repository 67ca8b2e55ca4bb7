import type {
  FormField,
  FormSchema,
  Elicitation,
  ElicitationResult,
  ElicitationHandler,
} from '../../contract/base/elicitation.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import { askYesOrNo } from './ask-for-choice.ts'
import { readTyped, type Typed } from './read-typed.ts'
import { formChoices } from '../../kit/form-choices.ts'
import { showLine } from '../base/show-safely.ts'
import type { Person, Terminal } from './terminal.ts'

/** Puts what calls ask to the person at the terminal: forms field by field, pages as a URL to read. It has no model. */
export function createTerminalElicitation(terminal: Terminal): ElicitationHandler {
  return async (elicitation, signal) => {
    if (elicitation.mode === 'sampling') return { action: 'decline' }
    return terminal.talk(signal, async (person) => {
      person.show(describeElicitation(elicitation))
      if (elicitation.mode === 'url') return askForVisit(person)
      if (!(await askYesOrNo(person, 'Answer? yes / no: '))) return { action: 'decline' }
      const content = await askForFields(elicitation.schema, person)
      return content === undefined ? { action: 'decline' } : { action: 'accept', content }
    })
  }
}

/** Who asks what, with nothing that could drive the terminal or pass for a question of ours: each line of the asker is marked as one. */
function describeElicitation(elicitation: Exclude<Elicitation, { mode: 'sampling' }>): string {
  const lines = [
    '',
    `The ${elicitation.from} asks, for a call of ${elicitation.tool}`,
    ...elicitation.message.split('\n').map((line) => `  | ${line}`),
    ...(elicitation.mode === 'url'
      ? [`  to visit: ${elicitation.url}`, '  Nothing is opened. Go there only where you know the site.']
      : ['  What you type goes to the one who asks. An empty line leaves a field out, Ctrl-D declines.']),
    '',
  ]
  return lines.map(showLine).join('\n')
}

async function askForVisit(person: Person): Promise<ElicitationResult> {
  return { action: (await askYesOrNo(person, 'Do you go there? yes / no: ')) ? 'accept' : 'decline' }
}

/** Undefined if the person ends it. */
async function askForFields(
  { properties, required = [] }: FormSchema,
  person: Person,
): Promise<JsonObject | undefined> {
  const content: JsonObject = {}
  for (const [name, field] of Object.entries(properties)) {
    person.show(describeField(name, field))
    const typed = await askForField(name, { field, isNeeded: required.includes(name), person })
    if (typed === undefined) return undefined
    if (typed.value !== undefined) content[name] = typed.value
  }
  return content
}

async function askForField(
  name: string,
  { field, isNeeded, person }: { field: FormField; isNeeded: boolean; person: Person },
): Promise<Extract<Typed, { value?: unknown }> | undefined> {
  const placeholder = field.default === undefined ? '' : ` [${showDefault(field.default)}]`
  const prompt = showLine(`  ${name}${placeholder}: `)
  for (;;) {
    const line = await person.ask(prompt)
    if (line === undefined) return undefined
    const typed = readTyped(line, name, field)
    if ('issue' in typed) person.show(`${showLine(`  ${typed.issue}`)}\n`)
    else if (typed.value === undefined && isNeeded && field.default === undefined)
      person.show('  It is needed. Ctrl-D declines the whole form.\n')
    else return typed
  }
}

function describeField(name: string, field: FormField): string {
  const { title = name, description, type } = field
  const choices = formChoices(field) ?? []
  const lines = [
    `  | ${title}`,
    ...(description?.split('\n').map((line) => `  |   ${line}`) ?? []),
    ...choices.map(
      ({ const: value, title: shown }, index) =>
        `  |   ${index + 1}  ${shown}${shown === value ? '' : `  (${value})`}`,
    ),
    ...(type === 'array' ? ['  several: with commas between'] : []),
    ...(type === 'boolean' ? ['  yes or no'] : []),
  ]
  return `${lines.map(showLine).join('\n')}\n`
}

function showDefault(value: NonNullable<FormField['default']>): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(', ') : String(value)
}
