import { createHash, randomBytes } from 'node:crypto'
import { gatewayPath } from '../../config/gateway-parts.ts'
import { loadConfiguration } from '../../config/load-configuration.ts'
import { checkGatewayFile, loadGateway, readGateway } from '../../config/load-gateway.ts'
import { whileChanging } from '../../config/base/while-changing.ts'
import { writeJsonFile } from '../../config/base/write-json-file.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { TokenCaller } from '../../contract/mcp/serving.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { callerOptions, readCaller, readText } from '../arguments/caller.ts'
import type { Command } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { readDuration } from '../arguments/read-duration.ts'
import { findPlaces, makeHome, type Places } from '../setup/wire.ts'

const tokenBytes = 32

/** `handrail token` */
export const token: Command = {
  usage: '<id>',
  summary: 'Makes a bearer token for a client of "handrail serve".',
  more: 'The token is shown once; gateway.json has its digest.',
  options: {
    write: { about: 'Adds the digest to gateway.json, rather than showing what to add.' },
    for: { takes: 'TIME', about: 'How long it holds, such as 30d. Default: until it is taken out.' },
    metrics: { about: 'It opens /metrics and nothing else.' },
    approver: { about: 'It answers approvals of its tenant too, as its actor, over HTTP.' },
    ...callerOptions,
    actor: { takes: 'ACTOR', about: 'Who calls. Default: the id of the client.' },
  },
  examples: ['handrail token ann --write', 'handrail token ci --tenant acme --role sub --for 30d --write'],
  needs: 'Name the client.',
  takes: 1,
  async run(given) {
    const [id = ''] = given.positionals
    const forMs = readDuration(given, 'for')
    const secret = `hr_${randomBytes(tokenBytes).toString('base64url')}`
    const caller: TokenCaller = {
      id,
      sha256: createHash('sha256').update(secret).digest('hex'),
      ...(forMs !== undefined && { expiresAt: new Date(Date.now() + forMs).toISOString() }),
      ...(given.options['metrics'] === true && { metrics: true }),
      ...(given.options['approver'] === true && { approver: true }),
      ...readCaller(given),
      actor: readText(given, 'actor') ?? id,
    }
    const places = findPlaces(given)
    const { home } = places
    checkTenant(caller, places)
    if (given.options['write'] === true) {
      makeHome(home)
      whileChanging(home, () => writeJsonFile(gatewayPath(home), addCaller(home, caller)))
      process.stderr.write(`handrail: ${id} may connect, as ${gatewayPath(home)} says\n`)
    } else {
      refuseIssues(home, { tokens: [caller] })
      const entry = JSON.stringify(caller, null, 2)
      process.stderr.write(
        `handrail: add this to "tokens" of ${gatewayPath(home)}, or use --write:\n${entry}\n`,
      )
    }
    process.stderr.write('handrail: the token is shown this once:\n')
    process.stdout.write(`${secret}\n`)
    return exitCodes.ok
  },
}

/** A caller whose tenant the policy does not name could not be served, and would keep the others from it. */
function checkTenant({ tenant = 'local' }: TokenCaller, places: Places): void {
  const { tenants } = loadConfiguration(places, createSchemaChecker()).policy
  if (tenants === undefined || tenant === 'local' || Object.hasOwn(tenants, tenant)) return
  throw new SetupError(
    'unknown_tenant',
    `The policy names its tenants, and "${tenant}" is none of them. Add it there, or use another one. Nothing was written.`,
  )
}

/** The file with this caller too. Throws a SetupError with every issue that it would have. */
function addCaller(home: string, caller: TokenCaller): object {
  const { tokens = [] } = loadGateway(home, createSchemaChecker())
  const gateway = { ...Object(readGateway(home)), tokens: [...tokens, caller] }
  refuseIssues(home, gateway)
  return gateway
}

function refuseIssues(home: string, gateway: object): void {
  const { issues } = checkGatewayFile(gateway, createSchemaChecker())
  if (issues.length > 0)
    throw new SetupError(
      'invalid_configuration',
      `With this client, ${gatewayPath(home)} would have issues. Nothing was written:`,
      issues,
    )
}
