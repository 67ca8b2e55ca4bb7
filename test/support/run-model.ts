import { handrail, jsonOf, type Ended, type Place } from './command-line.ts'
import { startModelServer, type Answer } from './model-server.ts'
import type { StoredRun } from 'handrail/agents'

/** A key of a provider as it looks. */
export const modelKey = `sk-ant-api03-${'k3Y'.repeat(20)}`
/** The environment of a person who has keys. */
export const modelEnv = { ANTHROPIC_API_KEY: modelKey, OPENAI_API_KEY: modelKey }

/** The options that name the model of a server. */
export const modelAt = (url: string): string[] => ['--model', 'anthropic/test-model', '--base-url', url]

/** Runs `handrail run` with these words to its end, against a server that says this. */
export async function runModel(
  place: Place,
  answers: readonly Answer[],
  { argv, input = '' }: { argv: readonly string[]; input?: string },
) {
  const server = await startModelServer(answers)
  const ended = await handrail(place, ['run', ...argv, ...modelAt(server.url)], { env: modelEnv, input })
  return { ...ended, asked: server.asked }
}

/** The runs in the store of a person, the newest first. */
export async function listRuns(place: Place): Promise<StoredRun[]> {
  const ended: Ended = await handrail(place, ['runs', '--json'])
  return jsonOf<StoredRun[] & Record<string, unknown>>(ended)
}
