// A link whose calls come over a channel of the process, for the thread of a store.

export function openStoreLink(name) {
  const channel = new BroadcastChannel(name);
  const carried = new Map();
  const say = (message) => channel.postMessage(message);
  return {
    serve: (each) => {
      channel.onmessage = ({ data: { call, bytes } }) => {
        if (bytes !== undefined) carried.set(call.id, bytes);
        each(call);
      };
    },
    bytes: (id) => carried.get(id),
    end: (id, status, bytes, text) => say({ id, status, bytes, text }),
    setAvailable: (isAvailable) => say({ isAvailable }),
    close: () => {
      say({ isClosed: true });
      channel.close();
    },
  };
}
