//! Things that wait for one event each, by number.

/// Numbered things. A number is free again once its thing was taken.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    things: Vec<Option<T>>,
    free: Vec<u32>,
    /// Numbers in use whose thing was withdrawn.
    withdrawn: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { things: Vec::new(), free: Vec::new(), withdrawn: 0 }
    }
}

impl<T> Slab<T> {
    /// Keeps a thing; returns its number.
    pub fn put(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.things[number as usize] = Some(thing);
                number
            }
            None => {
                self.things.push(Some(thing));
                self.things.len() as u32 - 1
            }
        }
    }

    /// The event of a number has come: returns the thing, unless it was withdrawn.
    pub fn take(&mut self, number: u32) -> Option<T> {
        let thing = self.things.get_mut(number as usize)?.take();
        self.withdrawn -= usize::from(thing.is_none());
        self.free.push(number);
        thing
    }

    /// The thing of a number, unless it was withdrawn.
    pub fn get(&self, number: u32) -> Option<&T> {
        self.things.get(number as usize)?.as_ref()
    }

    /// The thing of a number, unless it was withdrawn.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.things.get_mut(number as usize)?.as_mut()
    }

    /// Takes out the things for which `goes` is true. The numbers stay in use, as their events stay scheduled.
    pub fn withdraw(&mut self, goes: impl Fn(&T) -> bool) -> Vec<T> {
        let gone: Vec<T> =
            self.things.iter_mut().filter_map(|place| place.take_if(|thing| goes(thing))).collect();
        self.withdrawn += gone.len();
        gone
    }

    /// All things that wait.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter().flatten()
    }

    /// Number of things that wait.
    pub fn len(&self) -> usize {
        self.things.len() - self.free.len() - self.withdrawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_free_again_once_its_event_has_come() {
        let mut slab = Slab::default();
        let (one, two) = (slab.put("one"), slab.put("two"));
        assert_eq!(slab.withdraw(|thing| *thing == "one"), ["one"]);
        assert_eq!((slab.len(), slab.get_mut(one)), (1, None));
        assert_eq!(slab.put("three"), 2);
        assert_eq!((slab.take(one), slab.take(two), slab.len()), (None, Some("two"), 1));
        assert_eq!((slab.put("four"), slab.iter().count()), (two, 2));
    }
}
