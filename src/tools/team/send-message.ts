import type { JsonObject } from '../../contract/base/json.ts'
import type { MessageReport, SentMessage } from '../../contract/base/teams.ts'
import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { invalidInput } from '../code/base/invalid-input.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { worksWithTeams } from './fields.ts'

/** Longer texts belong in a file that the other agent reads. */
const longestMessage = 20_000

const text = { type: 'string' } as const

const input = {
  type: 'object',
  properties: {
    to: {
      type: 'string',
      pattern: String.raw`^(\*|[A-Za-z0-9_][A-Za-z0-9_.-]*)$`,
      maxLength: 64,
      description: 'Name or agent_id of a member; "lead" made the team; "*" is all others.',
    },
    message: {
      type: 'string',
      minLength: 1,
      maxLength: longestMessage,
      description: 'What it is told. Name files for what is longer.',
    },
  },
  required: ['to', 'message'],
  additionalProperties: false,
} as const

/** `agent.send_message`: what an agent tells others of its team. */
export function sendMessageTool(): Tool {
  return defineBuiltin({
    ...worksWithTeams,
    name: 'agent.send_message',
    title: 'Send message',
    description:
      'Sends a message to a member of your team, or with to "*" to all others. They read it at the start of their next turn, as data of another agent. A member that has ended reads no more.',
    input,
    output: {
      type: 'object',
      properties: {
        sent: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              to: text,
              team: text,
              reads: { enum: ['next_turn', 'when_started', 'when_resumed'] },
            },
            required: ['to', 'team', 'reads'],
            additionalProperties: false,
          },
        },
        missed: {
          type: 'array',
          description: 'Members that do not get it, and why.',
          items: {
            type: 'object',
            properties: { to: text, reason: text },
            required: ['to', 'reason'],
            additionalProperties: false,
          },
        },
      },
      required: ['sent', 'missed'],
      additionalProperties: false,
    },
    compatible: { name: 'SendMessage', inputSchema: input, toCanonical: (given) => given },
    decode({ to, message }) {
      if (message.trim() === '')
        throw invalidInput('"message" is empty. Say what the other agent is to know.')
      return { to, text: message }
    },
    plan: async ({ to }) => ({
      operations: [{ kind: 'other', resource: `handrail:team:${to}` }],
      planned: null,
    }),
    run: async (message, { teams }) => toOutput(await teams.send(message)),
  })
}

const when: { readonly [reads in SentMessage['reads']]: string } = {
  next_turn: 'reads it at the start of its next turn',
  when_started: 'has not started, and reads it when it does',
  when_resumed: 'does not run right now, and reads it when it goes on',
}

function toOutput({ sent, missed }: MessageReport) {
  const lines = [
    ...sent.map(({ to, reads }) => `"${to}" ${when[reads]}.`),
    ...missed.map(({ to, reason }) => `"${to}" does not get it (${reason}).`),
  ]
  const data: JsonObject = {
    sent: sent.map((each) => ({ ...each })),
    missed: missed.map((each) => ({ ...each })),
  }
  return toolOutput({
    content: [{ type: 'text', text: lines.join('\n') }],
    summary: `message to ${sent.map(({ to }) => to).join(', ')}`,
    data,
  })
}
