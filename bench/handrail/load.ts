import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Handrail from 'handrail'
import type * as Evidence from 'handrail/evidence'
import type * as Tools from 'handrail/tools'
import type * as AiSdk from 'handrail/ai-sdk'
import type * as Telemetry from 'handrail/telemetry'

/** Handrail as a user has it: packed, installed, and found by its name. */
export async function loadHandrail(): Promise<typeof Handrail> {
  return import(find('handrail'))
}

/** Its door for tools. */
export async function loadTools(): Promise<typeof Tools> {
  return import(find('handrail/tools'))
}

/** Its door for evidence. */
export async function loadEvidence(): Promise<typeof Evidence> {
  return import(find('handrail/evidence'))
}

/** Its door for telemetry. */
export async function loadTelemetry(): Promise<typeof Telemetry> {
  return import(find('handrail/telemetry'))
}

/** Its door for the AI SDK. */
export async function loadAiSdk(): Promise<typeof AiSdk> {
  return import(find('handrail/ai-sdk'))
}

function find(door: string): string {
  const installed = process.env.HANDRAIL_INSTALLED
  if (installed === undefined) throw new Error('HANDRAIL_INSTALLED names no directory; start bench/run.mjs')
  const entry = createRequire(join(installed, 'package.json')).resolve(door)
  return pathToFileURL(entry).href
}

/** A new temporary directory, and what removes it. */
export function makeDirectory(): { directory: string; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'handrail-bench-'))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
