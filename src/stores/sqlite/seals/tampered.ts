/** Something in the store is not what Handrail wrote. From then on the store takes no records. */
export class Tampered extends Error {}
