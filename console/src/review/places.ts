import { router } from "../app/router.svelte";

const API = "/api/";

/** Where the console shows a record in the review room; its path is that of its own routes. */
export const placeOf = (record: string): string => router.to(`/console/review/${record.replace(API, "")}`);

/** The record of such a place. */
export const recordAt = (rest: string): string => `${API}${rest}`;
