/** Of steps and tasks: letters that need no quotes anywhere. */
const idPattern = '^[A-Za-z0-9_][A-Za-z0-9_.-]*$'

export const taskField = {
  type: 'string',
  pattern: idPattern,
  maxLength: 64,
  description: 'Id of a task, as agent.task_create gave it.',
} as const

export const stepField = {
  type: 'string',
  pattern: idPattern,
  maxLength: 64,
  description: 'Id of a step, unique in its task.',
} as const

export const titleField = { type: 'string', minLength: 1, maxLength: 500, description: 'One line.' } as const

export const textField = { type: 'string', maxLength: 20_000 } as const

export const ownerField = { type: 'string', maxLength: 200, description: 'Who is to do it.' } as const

export const reasonField = { type: 'string', maxLength: 2000, description: 'Why, in a line or two.' } as const

export const stepsField = { type: 'array', maxItems: 1000, items: stepField } as const

export const tasksField = { type: 'array', maxItems: 100, items: taskField } as const

export const limitField = { type: 'integer', minimum: 1, maximum: 500, default: 50 } as const

export const offsetField = {
  type: 'integer',
  minimum: 0,
  default: 0,
  description: 'So many are passed by.',
} as const

const taskStates = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
const stepStates = ['pending', 'ready', 'running', 'completed', 'failed', 'cancelled'] as const

export const taskStateField = { type: 'string', enum: taskStates } as const

export const stepStateField = { type: 'string', enum: stepStates } as const
