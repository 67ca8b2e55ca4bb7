/** What a person may do in the console. Each may do what those before it may. */
export const consoleRoles = ['viewer', 'approver', 'operator', 'admin'] as const

export type ConsoleRole = (typeof consoleRoles)[number]

/** Stands for every tenant, those to come and what is of no tenant too. No tenant has this name. */
export const everyTenant = '*'

/** Grants a role to the persons whose claim has a value. */
export interface ConsoleRule {
  /** The name of the claim; from "/" on a JSON pointer into the claims. */
  claim: string
  /** The text that the claim is, or has among its texts. */
  value: string
  role: ConsoleRole
  /** In which tenants; `*` alone for every one. */
  tenants: readonly string[]
}

/** An OpenID provider at which persons log in. */
export interface ConsoleLogin {
  /** The `iss` of its tokens; all else is found through its metadata. */
  issuer: string
  clientId: string
  /** In `gateway.json`, the name of the environment variable that has it. Default: none, for a public client. */
  clientSecret?: string
  /** What is asked for beside `openid`. Default `profile` and `email`. */
  scopes?: readonly string[]
  /** The claim that tells persons of the issuer apart, for ever. Default `sub`. */
  actorClaim?: string
  /** How the button names the provider. Default: its host. */
  name?: string
  /** Who may do what. Who fits none of them does not get in. */
  rules: readonly ConsoleRule[]
}

/** How the console is reached beyond this machine, and by whom. */
export interface ConsoleServing {
  /** The origin under which browsers know it, such as `https://tools.example`. */
  url: string
  login: ConsoleLogin
}
