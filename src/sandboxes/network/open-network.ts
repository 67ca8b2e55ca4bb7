import type { NetworkOptions, OpenNetwork } from './base/network-entry.ts'
import { createNetworkRules } from './base/network-rules.ts'
import { openProxy } from './proxy/open-proxy.ts'
import { readUrl } from './base/read-url.ts'
import { lookupBySystem } from './base/resolve-host.ts'
import { sendRequest } from './base/send-request.ts'
import { toNetworkFailure } from './base/to-network-failure.ts'

/** Judges URLs and sends requests under these options, for one call at a time. */
export function openNetwork(options: NetworkOptions): OpenNetwork {
  const rules = createNetworkRules(options)
  const lookup = options.lookup ?? lookupBySystem
  return {
    resolve(url, { profile }) {
      const target = readUrl(url, { rules, hosts: profile.hosts })
      return { url: target.url.href, host: target.host }
    },
    async request(request, entry) {
      const { hosts } = entry.profile
      const deadline = AbortSignal.timeout(request.timeoutMs)
      const signal = AbortSignal.any([deadline, ...entry.signals()])
      const permit = entry.permitHost ?? permitAll
      try {
        return await sendRequest(request, { rules, hosts, lookup, permit, signal })
      } catch (error) {
        throw toNetworkFailure(error, { url: request.url, deadline, timeoutMs: request.timeoutMs })
      }
    },
    openProxy(place, entry) {
      const { profile, permitHost: permit = permitAll, ownHosts = [] } = entry
      const signals = () => entry.signals()
      const ownRules = ownHosts.length === 0 ? rules : createNetworkRules(options, ownHosts)
      return openProxy(place, { rules: ownRules, hosts: profile.hosts, lookup, permit, signals })
    },
  }
}

/** The profile alone decides. */
const permitAll = async (): Promise<void> => {}
