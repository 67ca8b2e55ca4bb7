import type { TriggerConfiguration } from '../contract/configuration.ts'
import type { Issue } from '../contract/base/json.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'

/** What a schema cannot say of triggers that fit it. */
export function checkTriggers(triggers: Readonly<Record<string, TriggerConfiguration>> | undefined): Issue[] {
  return Object.entries(triggers ?? {}).flatMap(([name, { url }]): Issue[] => {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    const refuse = (message: string): Issue[] => [
      { pointer: `${pointerTo('/triggers', name)}/url`, code: 'invalid_url', message },
    ]
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
      return refuse(`"${url}" is not a URL of the web. Write it from "https://" on.`)
    if (parsed.username !== '' || parsed.password !== '')
      return refuse('It holds a name or a password, which models would see. Name a secret that signs it.')
    return []
  })
}
