import { ToolFailure } from '../contract/errors.ts'

/** The service, or a `ToolFailure` with `service_missing` that names it. */
export function requireService<Service>(service: Service | undefined, name: string): Service {
  if (service !== undefined) return service
  throw new ToolFailure({
    reason: 'service_missing',
    message: `The tool needs the service "${name}", which this runtime was not given.`,
  })
}
