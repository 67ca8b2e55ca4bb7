import { loadGateway } from '../../config/load-gateway.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { defaultPort, readPort } from '../setup/read-port.ts'
import type { Command } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { inviteToConsole } from '../setup/open-console.ts'
import { findPlaces, wireRuntime } from '../setup/wire.ts'

/** `handrail console` */
export const consoleCommand: Command = {
  usage: '',
  summary: 'Prints a link that lets you into the console of "handrail serve", once.',
  more: 'The link holds for ten minutes, and what it opens for twelve hours. It is for the person at this machine: who has it may decide and change all.',
  options: {
    port: {
      takes: 'N',
      about: 'Where it serves. Default: HANDRAIL_PORT, else that of gateway.json, else 7420.',
    },
  },
  examples: ['handrail console'],
  takes: 0,
  async run(given) {
    const places = findPlaces(given)
    const gateway = loadGateway(places.home, createSchemaChecker())
    const port = readPort(given) ?? gateway.port ?? defaultPort
    const runtime = await wireRuntime(places, undefined, { operator: true })
    try {
      process.stdout.write(`${await inviteToConsole(runtime, `http://127.0.0.1:${port}`)}\n`)
      return exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}
