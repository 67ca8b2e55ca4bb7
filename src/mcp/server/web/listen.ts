import type { Server } from 'node:http'
import { SetupError } from '../../../contract/base/errors.ts'

/** An address to listen on, and a port; 0 is any free one. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Listens and returns the port. Fails with a `SetupError`: `port_in_use`, or `invalid_options` for what cannot be listened on. */
export function listen(server: Server, { host, port }: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(toSetupError(error, { host, port }))
    server.once('error', fail)
    server.listen(port, host === '[::1]' ? '::1' : host, () => {
      server.off('error', fail)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(\.\d{1,3}){3}$/.test(host)
}

function toSetupError(error: NodeJS.ErrnoException, { host, port }: Address): SetupError {
  if (error.code === 'EADDRINUSE')
    return new SetupError(
      'port_in_use',
      `The port ${port} on ${host} is in use by another program. Choose another port, or 0 for any free one, or end that program.`,
    )
  return new SetupError('invalid_options', `Cannot listen on ${host}, port ${port}: ${error.message}.`)
}
