import type { JsonObject } from '../../contract/base/json.ts'
import { todoStates, type Todo } from '../../contract/services/todo.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'

const mostTodos = 200
const words = { type: 'string', minLength: 1, maxLength: 1_000 } as const
const status = { type: 'string', enum: todoStates } as const

/** What is told of a todo. */
const todo = {
  type: 'object',
  properties: {
    content: { ...words, description: 'What is to be done, such as "Run the tests".' },
    status,
    active_form: { ...words, description: 'The same for while it is done, such as "Running the tests".' },
  },
  required: ['content', 'status'],
  additionalProperties: false,
} as const

/** `plan.todo_write`: the todo list of the session, as a whole. */
export function todoWriteTool(): Tool {
  return defineBuiltin({
    name: 'plan.todo_write',
    title: 'Write todos',
    description:
      'Replaces the todo list of this session. Use it for work of several steps, so that the person sees how far it is: hand in the whole list each time, keep one todo in progress while you work, and complete each as soon as it is done.',
    tags: ['plan', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:session:todos', action: 'write' }],
    concurrency: 'serial',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    needs: ['todos'],
    input: {
      type: 'object',
      properties: { todos: { type: 'array', maxItems: mostTodos, items: todo } },
      required: ['todos'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { todos: { type: 'array', items: todo } },
      required: ['todos'],
      additionalProperties: false,
    },
    compatible: {
      name: 'TodoWrite',
      inputSchema: {
        type: 'object',
        properties: {
          todos: {
            type: 'array',
            maxItems: mostTodos,
            items: {
              type: 'object',
              properties: { content: words, status, activeForm: words },
              required: ['content', 'status'],
              additionalProperties: false,
            },
          },
        },
        required: ['todos'],
        additionalProperties: false,
      },
      toCanonical: ({ todos }) => ({ todos: Array.isArray(todos) ? todos.map(withActiveForm) : [] }),
    },
    decode: ({ todos }) =>
      todos.map(({ content, status: state, active_form }): Todo => ({
        content,
        status: state,
        ...(active_form !== undefined && { activeForm: active_form }),
      })),
    plan: async (list) => ({
      operations: [{ kind: 'other', resource: 'handrail:session:todos' }],
      planned: list,
    }),
    async run(list, { todos }) {
      await todos.replace(list)
      const done = list.filter((each) => each.status === 'completed').length
      const summary = list.length === 0 ? 'The todo list is empty.' : `${done} of ${list.length} todos done`
      return toolOutput({
        content: [{ type: 'text', text: [summary, ...list.map(lineOf)].join('\n') }],
        summary,
        data: { todos: todos.list().map(toData) },
      })
    },
  })
}

/** Of an item that is not an object the check of the input says so. */
function withActiveForm(given: JsonObject[string]): JsonObject[string] {
  if (!isJsonObject(given)) return given
  const { activeForm, ...rest } = given
  return { ...rest, ...(activeForm !== undefined && { active_form: activeForm }) }
}

const marks: { readonly [state in Todo['status']]: string } = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
}

function lineOf({ content, status: state, activeForm }: Todo): string {
  return `${marks[state]} ${showControlsInLine(state === 'in_progress' ? (activeForm ?? content) : content)}`
}

function toData({ content, status: state, activeForm }: Todo): JsonObject {
  return { content, status: state, ...(activeForm !== undefined && { active_form: activeForm }) }
}
