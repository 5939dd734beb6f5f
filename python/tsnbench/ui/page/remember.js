// What the page remembers over its starts. A server has another port, and so another origin, at each start; cookies
// of one host are those of all its ports. Names and values are words that need no quotes.
const NAME = "tsnbench-page";
const YEAR_S = 31536000;

const all = () => {
  const own = document.cookie.split("; ").find((one) => one.startsWith(`${NAME}=`));
  const pairs = (own ?? "").slice(NAME.length + 1).split("_").map((one) => one.split("."));
  return new Map(pairs.filter((one) => one.length === 2).map(([name, value]) => [name, value]));
};

export const recall = (name) => all().get(name) ?? "";

export function remember(name, value) {
  const found = all();
  if (value === "") found.delete(name);
  else found.set(name, String(value));
  const words = [...found].map((one) => one.join(".")).join("_");
  document.cookie = `${NAME}=${words}; path=/; max-age=${YEAR_S}; samesite=strict`;
}
