import type { Login } from './create-login.ts'

/** Does something, and does it again each time that the person of the runtime has logged in for it. */
export async function withLogin<T>(login: Login | undefined, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (login === undefined || !(await login.mend(error))) throw error
    }
}
